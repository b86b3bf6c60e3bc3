import { array, assert, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { createTextHash } from '../../../src/shared/protocol/text-hash.ts'

function hashOf(...pieces: readonly string[]): number {
  const hash = createTextHash()
  for (const piece of pieces) hash.add(piece)
  return hash.value()
}

test('a text has one hash, however it is cut', () => {
  assert(
    property(array(string({ unit: 'binary' })), (pieces) => {
      expect(hashOf(...pieces)).toBe(hashOf(pieces.join('')))
    }),
  )
})

test('texts that differ in one character have different hashes, wherever it is', () => {
  const text = JSON.stringify({ rows: Array.from({ length: 200 }, (_, index) => index) })
  const changed = Array.from(text, (_, index) => `${text.slice(0, index)}~${text.slice(index + 1)}`)
  expect(new Set([text, ...changed].map((one) => hashOf(one))).size).toBe(text.length + 1)
})

test('a hundred thousand numbered texts have as many hashes, each exact as a number', () => {
  const hashes = Array.from({ length: 100_000 }, (_, index) => hashOf(`{"segment":"/#page","data":${index}}`))
  expect(new Set(hashes).size).toBe(hashes.length)
  expect(hashes.every((hash) => Number.isSafeInteger(hash) && hash >= 0)).toBe(true)
})
