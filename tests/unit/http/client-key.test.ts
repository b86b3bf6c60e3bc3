import { expect, test } from 'vitest'
import { clientKey } from '../../../src/server/http/client-key.ts'

test.for([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:7.7.7.7', '7.7.7.7'],
  ['::FFFF:7.7.7.7', '7.7.7.7'],
  ['::ffff:707:707', '7.7.7.7'],
  ['::ffff:0707:0707', '7.7.7.7'],
  ['0:0:0:0:0:ffff:707:707', '7.7.7.7'],
  ['0000:0000:0000:0000:0000:FFFF:7.7.7.7', '7.7.7.7'],
  ['::0:ffff:c633:6407', '198.51.100.7'],
  ['::ffff:ffff:ffff', '255.255.255.255'],
  ['::ffff:707:707%eth0', '7.7.7.7'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:0DB8:0:0:1::ffff:707', '2001:db8:0:0::/64'],
  ['::ffff:0:707:707', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
] as const)('the client at %s is %s', ([address, key]) => {
  expect(clientKey(address)).toBe(key)
})
