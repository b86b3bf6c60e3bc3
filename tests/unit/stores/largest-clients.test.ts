import { expect, test } from 'vitest'
import { LargestClients, MOST_READ } from '../../../src/server/stores/largest-clients.ts'

test('takes from the largest in turn, and reads them again only after as many as it reads', () => {
  const held = new Map([
    ['ann', 200],
    ['bob', 150],
  ])
  let reads = 0
  const largest = new LargestClients(() => {
    reads += 1
    return [...held].map(([client, amount]) => ({ client, amount }))
  })
  for (let taken = 0; taken < 2 * MOST_READ; taken += 1) {
    const client = largest.first() ?? ''
    held.set(client, (held.get(client) ?? 0) - 1)
    largest.note(client, 1)
  }
  expect([...held.values()]).toEqual([111, 111])
  expect(reads).toBe(2)
})

test('goes on to the next where one has nothing to take', () => {
  const largest = new LargestClients(() => [
    { client: 'ann', amount: 2 },
    { client: 'bob', amount: 1 },
  ])
  largest.note(largest.first(), Infinity)
  expect(largest.first()).toBe('bob')
  largest.note('bob', Infinity)
  expect(largest.first()).toBeUndefined()
})

test('where all have as little, they are not read for each', () => {
  let reads = 0
  const held: { client: string; amount: number }[] = []
  const largest = new LargestClients(() => {
    reads += 1
    return held
  })
  for (let taken = 0; taken < MOST_READ; taken += 1) {
    expect(largest.first()).toBeUndefined()
    largest.note(undefined, 1)
  }
  expect(reads).toBe(1)
  held.push({ client: 'ann', amount: 9 })
  expect(largest.first()).toBe('ann')
})
