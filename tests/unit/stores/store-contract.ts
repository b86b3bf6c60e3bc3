import { expect, it } from 'vitest'
import type { Store, StoreEntry, StoreKind } from '../../../src/server/stores/store.ts'

type Awaitable<Value> = Value | Promise<Value>

const NOW = 1_800_000_000_000
const HOUR = 3_600_000

/** Two clients, as `clientKey` names them. */
export const HONEST = '203.0.113.9'
export const GREEDY = '198.51.100.7'

/** A kind with bounds that no test reaches by accident. */
export const ROOMY: StoreKind = { name: 'sessions', entries: 10_000, bytes: 10_000_000 }

/** An entry that lives for an hour from `NOW`, of the group `ann`, unless `more` says otherwise. */
export function entryOf(key: string, more: Partial<StoreEntry> = {}): StoreEntry {
  return { key, value: `value of ${key}`, group: 'ann', client: HONEST, expiresAt: NOW + HOUR, ...more }
}

const keysOf = async (store: Store, group: string, now = NOW): Promise<readonly string[]> =>
  (await store.list(group, now)).map(({ key }) => key).toSorted()

/**
 * What every driver of `Store` must do.
 * @param open two handles on one empty store, as two processes have them.
 */
export function storeContract(open: (kind: StoreKind) => Awaitable<readonly [Store, Store]>): void {
  it('gives in another process what was put in one, until it expires', async () => {
    const [one, other] = await open(ROOMY)
    const { kept } = await one.put(entryOf('a'), NOW)
    expect(kept).toEqual({ ...entryOf('a'), version: 1, epoch: 0 })
    expect(await other.get('a', NOW)).toEqual(kept)
    expect(await other.get('a', NOW + HOUR - 1)).toEqual(kept)
    expect(await other.get('a', NOW + HOUR)).toBeUndefined()
    expect(await other.get('b', NOW)).toBeUndefined()
    expect(await keysOf(other, 'ann')).toEqual(['a'])
    expect(await keysOf(other, 'ann', NOW + HOUR)).toEqual([])
  })

  it('puts over what there is', async () => {
    const [one, other] = await open(ROOMY)
    await one.put(entryOf('a'), NOW)
    const later = entryOf('a', { value: '', group: 'bob', client: GREEDY, expiresAt: NOW + 2 * HOUR })
    const { kept } = await other.put(later, NOW)
    expect(kept).toEqual({ ...later, version: 2, epoch: 0 })
    expect(await one.get('a', NOW)).toEqual(kept)
    expect([await keysOf(one, 'ann'), await keysOf(one, 'bob')]).toEqual([[], ['a']])
  })

  it('puts only where there is nothing, if asked to, or nothing any more', async () => {
    const [one, other] = await open(ROOMY)
    await one.put(entryOf('a'), NOW)
    const next = entryOf('a', { value: 'next', expiresAt: NOW + 3 * HOUR })
    expect(await other.put(next, NOW + HOUR - 1, { ifAbsent: true })).toEqual({ found: await one.get('a', NOW) })
    expect((await other.put(next, NOW + HOUR, { ifAbsent: true })).kept).toBeDefined()
    expect((await one.get('a', NOW + HOUR))?.value).toBe('next')
  })

  it('puts only over the version that was read, if asked to', async () => {
    const [one, other] = await open(ROOMY)
    await one.put(entryOf('a'), NOW)
    const changed = entryOf('a', { value: 'changed' })
    expect((await one.put(changed, NOW, { ifVersion: 1 })).kept?.version).toBe(2)
    expect((await other.put(entryOf('a'), NOW, { ifVersion: 1 })).found?.value).toBe('changed')
    expect((await other.put(entryOf('b'), NOW, { ifVersion: 1 })).kept).toBeUndefined()
    expect((await one.get('a', NOW))?.value).toBe('changed')
    expect(await one.get('b', NOW)).toBeUndefined()
  })

  it('takes long values byte for byte, and no key or group for another', async () => {
    const [store] = await open(ROOMY)
    const names = ['a', 'A', 'a ', '=a', 'é', '{a}', 'a:b', "'; DROP TABLE calls_entries; --", '\u0000', '*']
    for (const name of names) await store.put(entryOf(name, { group: name, value: `é\u0000\n${name}` }), NOW)
    for (const name of names) {
      expect((await store.get(name, NOW))?.value).toBe(`é\u0000\n${name}`)
      expect(await keysOf(store, name)).toEqual([name])
    }
    await store.put(entryOf('long', { value: 'é'.repeat(500_000) }), NOW)
    expect((await store.get('long', NOW))?.value).toBe('é'.repeat(500_000))
  })

  it('removes what has the group, and tells whether there was something', async () => {
    const [one, other] = await open(ROOMY)
    await one.put(entryOf('a'), NOW)
    expect(await other.remove('a', 'bob')).toBe(false)
    expect(await other.remove('nothing', 'ann')).toBe(false)
    expect(await one.get('a', NOW)).toBeDefined()
    expect(await other.remove('a', 'ann')).toBe(true)
    expect(await one.get('a', NOW)).toBeUndefined()
    expect(await keysOf(one, 'ann')).toEqual([])
    expect(await one.remove('a', 'ann')).toBe(false)
  })

  it('removes a version alone, if one is named', async () => {
    const [one, other] = await open(ROOMY)
    const first = await one.put(entryOf('a'), NOW)
    const { kept } = await other.put(entryOf('a', { value: 'new' }), NOW)
    expect(await one.remove('a', 'ann', first.kept?.version)).toBe(false)
    expect((await one.get('a', NOW))?.value).toBe('new')
    expect(await one.remove('a', 'bob', kept?.version)).toBe(false)
    expect(await one.remove('a', 'ann', kept?.version)).toBe(true)
    expect(await other.get('a', NOW)).toBeUndefined()
  })

  it('keeps as many of a group as it may have, those that live longest, and always the new one', async () => {
    const [store] = await open(ROOMY)
    await store.put(entryOf('other', { group: 'bob', expiresAt: NOW + 1 }), NOW, { mostOfGroup: 1 })
    for (const [key, minutes] of Object.entries({ a: 30, b: 10, c: 20 })) {
      await store.put(entryOf(key, { expiresAt: NOW + minutes * 60_000 }), NOW, { mostOfGroup: 2 })
    }
    expect(await keysOf(store, 'ann')).toEqual(['a', 'c'])
    await store.put(entryOf('short', { expiresAt: NOW + 60_000 }), NOW, { mostOfGroup: 1 })
    expect(await keysOf(store, 'ann')).toEqual(['short'])
    expect(await keysOf(store, 'bob')).toEqual(['other'])
  })

  it('ends a group: all that it has, and what would continue one of them', async () => {
    const [one, other] = await open(ROOMY)
    const { kept } = await one.put(entryOf('a'), NOW)
    await one.put(entryOf('b'), NOW)
    await one.put(entryOf('over', { expiresAt: NOW + 1 }), NOW)
    await one.put(entryOf('of bob', { group: 'bob' }), NOW)
    expect(await other.advance('ann', NOW + 1)).toEqual({ ended: 2, epoch: NOW + 1 })
    expect(await keysOf(one, 'ann')).toEqual([])
    expect(await one.get('a', NOW + 1)).toBeUndefined()
    expect((await one.put(entryOf('next'), NOW + 1, { epoch: kept?.epoch ?? -1 })).kept).toBeUndefined()
    expect((await one.put(entryOf('new'), NOW + 1)).kept?.epoch).toBe(NOW + 1)
    expect((await one.put(entryOf('continued'), NOW + 1, { epoch: NOW + 1 })).kept).toBeDefined()
    expect(await keysOf(one, 'bob')).toEqual(['of bob'])
    expect(await other.advance('nobody', NOW)).toEqual({ ended: 0, epoch: NOW })
  })

  it('ends a group but for one, which may be continued', async () => {
    const [one, other] = await open(ROOMY)
    for (const key of ['a', 'b', 'c']) await one.put(entryOf(key), NOW)
    await one.put(entryOf('of bob', { group: 'bob' }), NOW)
    const { ended, epoch } = await other.advance('ann', NOW, 'b')
    expect([ended, await keysOf(one, 'ann')]).toEqual([2, ['b']])
    expect(await one.get('b', NOW)).toMatchObject({ epoch, version: 1 })
    // The key of somebody else's entry gives nobody a place in its group.
    await other.advance('ann', NOW, 'of bob')
    expect(await one.get('of bob', NOW)).toMatchObject({ group: 'bob', epoch: 0 })
    expect(await keysOf(one, 'ann')).toEqual([])
  })

  it('advances once a call, also within a millisecond and on a clock that was set back', async () => {
    const [one, other] = await open(ROOMY)
    const epochs = [
      await one.advance('ann', NOW),
      await other.advance('ann', NOW),
      await one.advance('ann', NOW - HOUR),
    ]
    expect(epochs.map(({ epoch }) => epoch)).toEqual([NOW, NOW + 1, NOW + 2])
  })
}

/**
 * How every driver holds to its bounds.
 * @param open an empty store.
 * @param count how many entries it has room for now, expired ones included.
 */
export function boundedStoreContract(
  open: (kind: StoreKind) => Awaitable<Store>,
  count: (kind: StoreKind) => Awaitable<number>,
): void {
  const few: StoreKind = { name: 'calls', entries: 10, bytes: 10_000_000 }
  const small: StoreKind = { name: 'calls', entries: 10_000, bytes: 1_000 }

  it('keeps half of its entries for others than the client that has most, and takes its own for it', async () => {
    const store = await open(few)
    for (const key of ['a', 'b', 'c']) await store.put(entryOf(key, { expiresAt: NOW + 60_000 }), NOW)
    for (let at = 0; at < 50; at += 1) {
      await store.put(entryOf(`greedy ${at}`, { client: GREEDY, expiresAt: NOW + HOUR + at }), NOW)
    }
    await store.put(entryOf('last', { client: 'somebody else' }), NOW)
    for (const key of ['a', 'b', 'c', 'last', 'greedy 49']) expect(await store.get(key, NOW)).toBeDefined()
    expect(await store.get('greedy 0', NOW)).toBeUndefined()
    expect(await count(few)).toBeLessThanOrEqual(few.entries)
    const greedy = (await store.list('ann', NOW)).filter(({ client }) => client === GREEDY)
    expect(greedy.length).toBeLessThanOrEqual(few.entries / 2 + 1)
  })

  it('keeps half of its bytes for others, and forgets nothing that has none', async () => {
    const store = await open(small)
    await store.put(entryOf('running', { value: '', client: GREEDY, expiresAt: NOW + 1_000 }), NOW)
    for (const key of ['a', 'b']) await store.put(entryOf(key, { value: 'é'.repeat(100) }), NOW)
    for (let at = 0; at < 20; at += 1) {
      const value = 'x'.repeat(100)
      await store.put(entryOf(`greedy ${at}`, { client: GREEDY, value, expiresAt: NOW + HOUR + at }), NOW)
    }
    await store.put(entryOf('last', { client: 'somebody else' }), NOW)
    for (const key of ['a', 'b', 'last', 'running', 'greedy 19']) expect(await store.get(key, NOW)).toBeDefined()
    expect(await store.get('greedy 0', NOW)).toBeUndefined()
    const held = (await store.list('ann', NOW)).reduce((sum, { value }) => sum + Buffer.byteLength(value), 0)
    expect(held).toBeLessThanOrEqual(small.bytes)
  })

  it('shares fairly among many that have too much', async () => {
    const store = await open(few)
    for (let at = 0; at < 40; at += 1) {
      await store.put(entryOf(`of ${at % 4}, ${at}`, { client: `client ${at % 4}`, expiresAt: NOW + HOUR + at }), NOW)
    }
    await store.put(entryOf('honest'), NOW)
    const clients = (await store.list('ann', NOW)).map(({ client }) => client)
    expect(await count(few)).toBeLessThanOrEqual(few.entries + 1)
    for (const client of [HONEST, 'client 0', 'client 1', 'client 2', 'client 3']) expect(clients).toContain(client)
  })

  it('has room again when entries have expired, also while their client puts no more', async () => {
    const store = await open(few)
    for (const key of ['a', 'b', 'c']) await store.put(entryOf(key, { client: GREEDY }), NOW)
    await store.put(entryOf('d', { expiresAt: NOW + 3 * HOUR }), NOW + HOUR)
    expect(await count(few)).toBe(1)
    await store.remove('d', 'ann')
    expect(await count(few)).toBe(0)
  })

  it('counts what is put over, by whomever, once', async () => {
    const store = await open(few)
    for (let at = 0; at < 30; at += 1) {
      await store.put(entryOf('a', { client: `client ${at}` }), NOW)
      await store.put(entryOf('b', { client: GREEDY, value: 'x'.repeat(at) }), NOW)
    }
    expect(await count(few)).toBe(2)
    expect(await store.get('a', NOW)).toMatchObject({ client: 'client 29', version: 30 })
  })

  const bytesOf = async (store: Store, keys: readonly string[]): Promise<number> => {
    const entries = await Promise.all(keys.map((key) => store.get(key, NOW)))
    return entries.reduce((sum, entry) => sum + Buffer.byteLength(entry?.value ?? ''), 0)
  }

  it('bounds the bytes of a client whose first entries have no value, such as calls in progress', async () => {
    const store = await open({ ...ROOMY, bytes: 10_000 })
    for (let at = 0; at < 100; at += 1) {
      await store.put(entryOf(`empty ${at}`, { client: GREEDY, value: '', expiresAt: NOW + 1_000 }), NOW)
    }
    const keys = Array.from({ length: 40 }, (_, at) => `large ${at}`)
    for (const key of keys) await store.put(entryOf(key, { client: GREEDY, value: 'x'.repeat(1_000) }), NOW)
    expect(await bytesOf(store, keys)).toBe(5_000)
    expect((await store.get('empty 0', NOW))?.value).toBe('')
  })

  it('takes the room of hundreds of entries for a large one', async () => {
    const store = await open({ ...ROOMY, bytes: 10_000 })
    const keys = Array.from({ length: 500 }, (_, at) => `small ${at}`)
    for (const key of keys) await store.put(entryOf(key, { client: GREEDY, value: '0123456789' }), NOW)
    expect(await bytesOf(store, keys)).toBe(5_000)
    const large = entryOf('large', { client: GREEDY, value: 'x'.repeat(4_000), expiresAt: NOW + 2 * HOUR })
    await store.put(large, NOW)
    expect(await bytesOf(store, ['large', ...keys])).toBe(5_000)
    expect((await store.get('large', NOW))?.value).toHaveLength(4_000)
  })
}
