import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { openPacket, packetStart, packValue } from '../../../src/server/stores/cache/value-packet.ts'

const facts = {
  tags: ['a\n', 'ü'],
  madeAt: 5,
  freshMs: 6,
  staleMs: 7,
  ofStale: false,
  clock: 1_800_000_000_000_001,
  by: 'one',
}

/** All printable characters as often, in no order that anybody finds. */
const PRINTABLE = String.fromCharCode(...randomBytes(3_000).map((byte) => 35 + (byte % 90)))

test.for([
  ['a short text is packed as it is', 'j"Mühle\n"', (bytes: number) => bytes > 8],
  ['a long one is made smaller', `j"${'Mühle\n'.repeat(2_000)}"`, (bytes: number) => bytes < 1_000],
  ['one that does not get smaller stays as it is', `j"${PRINTABLE}"`, (bytes: number) => bytes > 3_000],
] as const)('%s, and comes back whole', async ([, text, isRight]) => {
  const packet = await packValue({ ...facts, text })
  expect(packet.length).toSatisfy(isRight)
  const { head, text: read } = openPacket(packet)
  expect(head).toMatchObject(facts)
  expect(await read()).toBe(text)
  expect(packet.toString().startsWith(packetStart(facts))).toBe(true)
  for (const other of [{ by: 'on' }, { by: 'two' }, { madeAt: 50 }]) {
    expect(packet.toString().startsWith(packetStart({ ...facts, ...other }))).toBe(false)
  }
})
