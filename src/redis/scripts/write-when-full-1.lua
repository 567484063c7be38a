-- One write of a service's heartbeat that gets through though Redis is full: a script may take memory after a first write that takes none.
-- KEYS  1 key
-- ARGV  1 command  2… its arguments after the key
-- Returns {'OK'}
redis.call('PERSIST', KEYS[1])
redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))
return { 'OK' }
