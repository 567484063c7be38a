#!/bin/sh
# Writes the secrets that docker-compose.yml mounts: a random password for each user of Redis (kept there as a hash only), each
# service's address with its own, the page's token, Grafana's password. Run once, before the first `docker compose up`:
#   sh config/redis/make-secrets.sh            into ./secrets, for a Redis named redis:6379
#   sh config/redis/make-secrets.sh DIR HOST:PORT
set -eu
dir=${1:-secrets}
server=${2:-redis:6379}
if [ -e "$dir/redis_users" ]; then
  echo "$dir holds secrets already; remove it first to make new ones" >&2
  exit 2
fi
mkdir -p "$dir"
chmod 700 "$dir"

secret() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
hash() { printf %s "$1" | sha256sum | cut -d ' ' -f 1; }

# Everything that services do, on our keys only; neither CONFIG, KEYS, FLUSHALL nor anything else that is dangerous.
service='~dfx2:* ~dfx1:control ~dfx1:reply:* ~dfx1:workers resetchannels -@all +@read +@write +@stream +@blocking +@transaction +@connection +eval +evalsha +script|load +time -@dangerous +info +client|list'
# What a trainer does: its run's keys and the mount; who lives it may only look at, and queues as well, to say what a step waits for.
trainer='~dfx2:control ~dfx2:reply:* ~dfx2:{0}:* %R~dfx2:* resetchannels -@all +@read +@write +@stream +@blocking +@transaction +@connection +eval +evalsha +script|load +time -@dangerous +info'

broker_password=$(secret)
worker_password=$(secret)
trainer_password=$(secret)
{
  echo "user default off"
  echo "user dataflex-broker on #$(hash "$broker_password") $service"
  echo "user dataflex-worker on #$(hash "$worker_password") $service"
  echo "user dataflex-trainer on #$(hash "$trainer_password") $trainer"
  echo "user health on nopass resetkeys resetchannels -@all +ping"
} >"$dir/redis_users"
echo "redis://dataflex-broker:$broker_password@$server" >"$dir/redis_broker"
echo "redis://dataflex-worker:$worker_password@$server" >"$dir/redis_worker"
echo "redis://dataflex-trainer:$trainer_password@$server" >"$dir/redis_trainer"
secret >"$dir/page_token"
secret >"$dir/grafana_password"
# Containers read them as users of their own; the folder keeps other users of this machine out.
chmod 444 "$dir"/*
echo "secrets written to $dir"
