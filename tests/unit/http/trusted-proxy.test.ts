import { describe, expect, test } from 'vitest'
import { parseProxyTrust, resolveClientAddress } from '../../../src/server/http/trusted-proxy.ts'
import { isValidHost } from '../../../src/server/http/request-target.ts'

describe('a list of proxies', () => {
  const trust = parseProxyTrust(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1'])

  test.for(['10.0.0.1', '10.255.255.255', '::ffff:10.1.2.3', '192.0.2.7', '2001:db8::5', '::1'])(
    'holds %s',
    (address) => {
      expect(trust(address)).toBe(true)
    },
  )

  test.for(['11.0.0.1', '192.0.2.8', '::ffff:11.0.0.1', '2001:db9::1', '::2', '', 'localhost', undefined])(
    'does not hold %s',
    (address) => {
      expect(trust(address)).toBe(false)
    },
  )

  test('that is empty holds nobody', () => {
    expect(parseProxyTrust([])('127.0.0.1')).toBe(false)
  })

  test.for([
    'true',
    '1',
    'loopback',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/x',
    '::1/129',
    '10.0.0',
    'a.test',
    // A width that is nothing, or a number in another notation, must not come out as everybody.
    '10.0.0.0/',
    '::1/',
    '10.0.0.0/ ',
    '10.0.0.0/8/8',
    '10.0.0.0/0x8',
    '10.0.0.0/1e1',
  ])('refuses the entry %s, by name', (entry) => {
    expect(() => parseProxyTrust(['10.0.0.0/8', entry])).toThrow(
      new RangeError(`"${entry}" is not a valid IP address or CIDR block`),
    )
  })
})

describe('a list that names everybody', () => {
  test('an IPv4 address on a socket of both families is that address', () => {
    const peer = { address: '::ffff:203.0.113.9', encrypted: false, host: 'a.test' }
    const forwarded = { for: '::ffff:198.51.100.7', protocol: undefined, host: undefined }
    const ofProxy = resolveClientAddress(
      { ...peer, address: '::ffff:10.1.2.3' },
      forwarded,
      parseProxyTrust(['10.0.0.0/8']),
      () => true,
    )
    const direct = resolveClientAddress(peer, forwarded, parseProxyTrust([]), () => true)
    expect([direct.address, ofProxy.address]).toEqual(['203.0.113.9', '198.51.100.7'])
  })

  test.for(['0.0.0.0/0', '10.1.2.3/0', '0.0.0.0/1,128.0.0.0/1', '::/0', '2000::/3', '::/1', '::ffff:0:0/96'])(
    'is refused: %s',
    (list) => {
      expect(() => parseProxyTrust(list.split(','))).toThrow(/names all addresses/)
    },
  )

  test('is not that of one IPv4 network in the notation of IPv6', () => {
    const trust = parseProxyTrust(['::ffff:10.0.0.0/8', '::FFFF:192.0.2.7'])
    expect(['10.1.2.3', '::ffff:10.1.2.3', '192.0.2.7'].map(trust)).toEqual([true, true, true])
    expect(['11.1.2.3', '127.0.0.1', '192.0.2.8', '::1'].map(trust)).toEqual([false, false, false, false])
  })
})

describe('where a request came from', () => {
  const trust = parseProxyTrust(['10.0.0.0/8'])
  const claims = { for: '203.0.113.9', protocol: 'https', host: 'public.test' }
  const from = (address: string, forwarded: Partial<typeof claims>) =>
    resolveClientAddress(
      { address, encrypted: false, host: 'inner.test' },
      { for: undefined, protocol: undefined, host: undefined, ...forwarded },
      trust,
      isValidHost,
    )

  test('is what our proxy says', () => {
    expect(from('10.0.0.1', claims)).toEqual({ address: '203.0.113.9', protocol: 'https', host: 'public.test' })
  })

  test('is the peer itself, whatever a stranger says', () => {
    expect(from('203.0.113.1', claims)).toEqual({ address: '203.0.113.1', protocol: 'http', host: 'inner.test' })
  })

  test.for([
    ['the last hop that is no proxy of ours', '1.1.1.1, 203.0.113.9, 10.0.0.2', '203.0.113.9'],
    ['never what the client put in front', '10.9.9.9, 203.0.113.9', '203.0.113.9'],
    ['the first of ours when all are', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['the peer when the chain names nobody', 'unknown, _hidden', '10.0.0.1'],
    ['the peer when there is no chain', undefined, '10.0.0.1'],
    ['an IPv6 hop', ' 2001:db8::9 ', '2001:db8::9'],
    ['without the port that a proxy has written', '6.6.6.6, 203.0.113.9:5555', '203.0.113.9'],
    ['an IPv6 hop with its port', '6.6.6.6, [2001:db8::9]:5555, 10.0.0.2:80', '2001:db8::9'],
    ['never what stands in front of a hop that is no address', '6.6.6.6, unknown, 10.0.0.2', '10.0.0.2'],
    ['the peer where the nearest hop is no address', '6.6.6.6, _hidden', '10.0.0.1'],
  ] as const)('is %s', ([, chain, address]) => {
    expect(from('10.0.0.1', chain === undefined ? {} : { for: chain }).address).toBe(address)
  })

  test.for([
    ['two proxies that each add', { for: '203.0.113.9, 10.0.0.2', protocol: 'https, http', host: 'a.test, b.test' }],
    [
      'and a visitor who has begun the list',
      { for: '1.1.1.1, 203.0.113.9, 10.0.0.2', protocol: 'http, https, http', host: 'c.test,a.test,b.test' },
    ],
    [
      'two of which the second leaves what it was told',
      { for: '203.0.113.9, 10.0.0.2', protocol: 'https', host: 'a.test' },
    ],
    ['one that adds', { for: '1.1.1.1, 203.0.113.9', protocol: 'http, https', host: 'c.test, a.test' }],
  ] as const)('is told by the first of our proxies: %s', ([, forwarded]) => {
    expect(from('10.0.0.1', forwarded)).toEqual({ address: '203.0.113.9', protocol: 'https', host: 'a.test' })
  })

  test.for([
    [{ protocol: 'ftp' }, 'http', 'inner.test'],
    [{ protocol: 'https, http' }, 'http', 'inner.test'],
    [{ host: 'a b' }, 'http', 'inner.test'],
    [{ host: 'public.test/evil' }, 'http', 'inner.test'],
    [{ host: 'a.test, b c' }, 'http', 'inner.test'],
    [{ protocol: 'https,' }, 'http', 'inner.test'],
    [{ host: '' }, 'http', 'inner.test'],
  ] as const)('leaves out what is malformed: %j', ([forwarded, protocol, host]) => {
    expect(from('10.0.0.1', forwarded)).toEqual({ address: '10.0.0.1', protocol, host })
  })
})
