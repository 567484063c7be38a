#!/bin/sh
# Writes the secrets that docker-compose.yml mounts: a random password for each user of Redis (kept there as a hash only), each
# service's address with its own, the page's token, Grafana's password. Run once, before the first `docker compose up`:
#   sh config/redis/make-secrets.sh                  into ./secrets, for a Redis named redis:6379
#   sh config/redis/make-secrets.sh DIR HOST:PORT
# And once for each run whose trainer must not touch other runs, then `ACL LOAD` as dataflex-admin:
#   sh config/redis/make-secrets.sh --run NAME [DIR HOST:PORT]
# docs/security.md says what each user may do.
set -eu
run=
if [ "${1:-}" = --run ]; then
  run=${2:?usage: make-secrets.sh --run NAME [DIR HOST:PORT]}
  shift 2
fi
dir=${1:-secrets}
server=${2:-redis:6379}

secret() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
hash() { printf %s "$1" | sha256sum | cut -d ' ' -f 1; }

# A run's name as it stands in keys, `encodeRun` of src/redis/keys.ts: other bytes than these become `.xx`.
encode() {
  case $1 in history | history-rows) printf '.68%s' "${1#h}"; return ;; esac
  encoded=$(printf %s "$1" | od -An -v -tx1 | tr -s ' \n' '\n\n' | while read -r byte; do
    case $byte in
      '') ;;
      2d | 5f | 3[0-9] | 4[1-9a-f] | 5[0-9a] | 6[1-9a-f] | 7[0-9a]) printf "\\$(printf %03o "0x$byte")" ;;
      *) printf '.%s' "$byte" ;;
    esac
  done)
  if [ ${#encoded} -le 96 ]; then printf %s "$encoded"; else
    printf '%.60s..%.32s' "$encoded" "$(hash "$1")"
  fi
}

# What a client does with its own run's keys; nothing that tells the keys of others (SCAN, RANDOMKEY, CLIENT TRACKING).
commands='-@all +@read +@write +@stream +@blocking +@transaction +@connection +eval +evalsha +script|load +time -@dangerous +info -scan -randomkey -client|tracking'
# Redis asks of a script's caller both to read and to write the keys that it names, and of each command in it what that command needs:
# so a script may name what is shared, and append to it, and nothing else.
shared='~dfx2:{0}:announce ~dfx2:{0}:notices ~dfx2:{0}:runs'
append='(-@all +xadd %W~dfx2:control %W~dfx2:{0}:announce %W~dfx2:{0}:notices) (-@all +zadd %W~dfx2:{0}:runs) (-@all +get +del ~dfx2:reply:*)'
# Who lives: to say what a step waits for.
look='(-@all +get +mget +zrangebyscore %R~dfx2:brokers %R~dfx2:workers %R~dfx2:broker:* %R~dfx2:worker:*)'

if [ -n "$run" ]; then
  name=$(encode "$run")
  user=dataflex-run-$name
  address=$dir/redis_run_$name
  [ -e "$dir/redis_users" ] || { echo "$dir holds no users yet; run this once without --run" >&2; exit 2; }
  if grep -q "^user $user " "$dir/redis_users"; then
    echo "$dir holds a user of run $run already: $address" >&2
    exit 2
  fi
  password=$(secret)
  chmod u+w "$dir/redis_users"
  own="~dfx2:{0}:$name:*"
  echo "user $user on #$(hash "$password") resetchannels $own $commands (-@all +eval +evalsha $own $shared) $append $look" >>"$dir/redis_users"
  echo "redis://$user:$password@$server" >"$address"
  chmod 444 "$dir/redis_users" "$address"
  echo "user $user written to $dir/redis_users, its address to $address. Then: redis-cli --user dataflex-admin --askpass ACL LOAD"
  exit 0
fi

if [ -e "$dir/redis_users" ]; then
  echo "$dir holds secrets already; remove it first to make new ones" >&2
  exit 2
fi
mkdir -p "$dir"
chmod 700 "$dir"

# Everything that services do, on our keys only; neither CONFIG, KEYS, FLUSHALL nor anything else that is dangerous. A script that runs for
# ever is somebody else's, and may be ended.
service='~dfx2:* ~dfx1:control ~dfx1:reply:* ~dfx1:workers resetchannels -@all +@read +@write +@stream +@blocking +@transaction +@connection +eval +evalsha +script|load +script|kill +time -@dangerous +info +client|list'
# A trainer of any run. Where runs must be kept apart, each has a user of its own (--run).
trainer='~dfx2:control ~dfx2:reply:* ~dfx2:{0}:* %R~dfx2:* resetchannels -@all +@read +@write +@stream +@blocking +@transaction +@connection +eval +evalsha +script|load +time -@dangerous +info'
# Looks at everything of ours and changes nothing: `dataflex-mq status`. Queues count their jobs in scripts.
viewer='%R~dfx2:* resetchannels -@all +@read +@connection +script|load +time -@dangerous +info (-@all +eval +evalsha ~dfx2:{q}:*)'

broker_password=$(secret)
worker_password=$(secret)
trainer_password=$(secret)
viewer_password=$(secret)
admin_password=$(secret)
{
  echo "user default off"
  echo "user dataflex-admin on #$(hash "$admin_password") ~* &* +@all"
  echo "user dataflex-broker on #$(hash "$broker_password") $service"
  echo "user dataflex-worker on #$(hash "$worker_password") $service"
  echo "user dataflex-trainer on #$(hash "$trainer_password") $trainer"
  echo "user dataflex-viewer on #$(hash "$viewer_password") $viewer"
  echo "user health on nopass resetkeys resetchannels -@all +ping"
} >"$dir/redis_users"
echo "redis://dataflex-admin:$admin_password@$server" >"$dir/redis_admin"
echo "redis://dataflex-broker:$broker_password@$server" >"$dir/redis_broker"
echo "redis://dataflex-worker:$worker_password@$server" >"$dir/redis_worker"
echo "redis://dataflex-trainer:$trainer_password@$server" >"$dir/redis_trainer"
echo "redis://dataflex-viewer:$viewer_password@$server" >"$dir/redis_viewer"
secret >"$dir/page_token"
secret >"$dir/grafana_password"
# Containers read them as users of their own; the folder keeps other users of this machine out.
chmod 444 "$dir"/*
echo "secrets written to $dir"
