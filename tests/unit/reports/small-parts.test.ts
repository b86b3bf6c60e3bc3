import { describe, expect, test, vi } from 'vitest'
import { createClientAllowance, CREDITS_A_POINT, workOf } from '../../../src/server/reports/relay/client-allowance.ts'
import { clientKey } from '../../../src/server/http/client-key.ts'
import { itemCategory } from '../../../src/server/reports/intake/item-category.ts'
import { derivedTunnelPath, isTunnelPath } from '../../../src/server/config/tunnel-path.ts'

describe('the allowance of a client', () => {
  const yes = { allowed: true, retryAfterSeconds: 0 }
  const no = { allowed: false, retryAfterSeconds: 7 }

  test('asks the store once for several envelopes', async () => {
    const allowance = createClientAllowance()
    const take = vi.fn<() => Promise<typeof yes>>(async () => yes)
    for (let count = 0; count < 2 * CREDITS_A_POINT; count += 1) expect(await allowance.use('a', take)).toEqual(yes)
    expect(take).toHaveBeenCalledTimes(2)
    expect(await allowance.use('b', async () => no)).toEqual(no)
    expect(await allowance.use('b', async () => yes)).toEqual(yes)
  })

  test('asks the store no more often where they all come at once', async () => {
    const allowance = createClientAllowance()
    const take = vi.fn<() => Promise<typeof yes>>(async () => yes)
    const all = Array.from({ length: 2 * CREDITS_A_POINT }, () => allowance.use('a', take))
    expect(new Set(await Promise.all(all))).toEqual(new Set([yes]))
    expect(take).toHaveBeenCalledTimes(2)
  })

  test.for([
    ['a usual envelope', { bytes: 4_000, received: 4_000, values: 0 }, 4_000],
    ['a large one that came as it is', { bytes: 20_000_000, received: 20_000_000, values: 0 }, 20_000_000],
    ['a compressed one', { bytes: 1_000_000, received: 100_000, isWhole: true, values: 0 }, 1_000_000],
    ['one of 96 bytes that inflates to 256 KiB', { bytes: 262_144, received: 96, values: 0 }, 9 * 262_144],
    ['the same once it is read', { bytes: 262_144, received: 96, isWhole: true, values: 0 }, 12 * 262_144],
    ['one of 90 bytes that inflates to 20 MiB', { bytes: 20_971_520, received: 90, values: 0 }, 88 * 262_144],
    ['one of 20 MiB that is kept', { bytes: 20_971_520, received: 2_000_000, values: 0, isWhole: true }, 272 * 262_144],
    ['one with many values', { bytes: 100_000, received: 100_000, values: 50_000 }, 12_900_000],
  ] as const)('is used by the work of %s', ([, work, expected]) => {
    expect(workOf({ isWhole: false, ...work })).toBe(expected)
  })

  test('is remembered of so many clients and no more', async () => {
    const allowance = createClientAllowance(2)
    for (const client of ['a', 'b', 'c']) await allowance.use(client, async () => yes)
    expect(await allowance.use('a', async () => no)).toEqual(no)
    expect(await allowance.use('b', async () => no)).toEqual(yes)
    expect(await allowance.use('c', async () => no)).toEqual(yes)
  })
})

test.for([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['1::', '1:0:0:0::/64'],
  ['', ''],
] as const)('%s is counted as %s', ([address, key]) => {
  expect(clientKey(address)).toBe(key)
})

test('items count as what the service calls them', () => {
  expect(itemCategory('event')).toBe('error')
  expect(itemCategory('sessions')).toBe('session')
  expect(itemCategory('replay_recording')).toBe('replay')
  expect(itemCategory('toString')).toBeUndefined()
})

describe('the path of the relay', () => {
  test('differs from DSN to DSN, stays the same for one, and tells nothing', () => {
    const path = derivedTunnelPath('https://key@errors.test/1')
    expect(path).toMatch(/^\/_m\/reports\/[0-9a-f]{8}$/)
    expect(derivedTunnelPath('https://key@errors.test/1')).toBe(path)
    expect(derivedTunnelPath('https://key@errors.test/2')).not.toBe(path)
    expect(derivedTunnelPath('')).not.toBe(path)
  })

  test.for([
    ['/reports', true],
    ['/deep/er', true],
    ['/_m/reports/mine', true],
    ['/_m', false],
    ['/_m/assets/x', false],
    ['/_m/data', false],
    ['/_m/build', false],
    ['/_m/reports', false],
    ['/healthz', false],
    ['/readyz', false],
    ['/_more', true],
  ] as const)('%s: %s', ([path, free]) => {
    expect(isTunnelPath(path)).toBe(free)
  })
})
