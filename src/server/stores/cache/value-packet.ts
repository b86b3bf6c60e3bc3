/**
 * A value in the shared store: one line of JSON, then the text, gzipped if that saves enough. The version is part of
 * the keys (`shared-values.ts`).
 */
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { KeptValue } from './kept-value.ts'

/** A kept value, and the clock of the shared store before it was made. */
interface SharedValue extends KeptValue {
  readonly clock: number
  /** The process that has made it. */
  readonly by: string
}

/** Measured: a list of objects of this size shrinks to less than a third, in a tenth of a millisecond. */
const LEAST_GZIPPED = 2_048
const WORTH_IT = 0.8 // of its length
const MOST_BYTES = 67_108_864 // inflated; no kept value is larger
const NEWLINE = 10

const compress = promisify(gzip)
const inflate = promisify(gunzip)

interface PacketHead extends Omit<SharedValue, 'text'> {
  readonly gzip?: true
}

/** How the packet of a value begins: no value of another process or moment begins so. */
export function packetStart({ by, madeAt }: Pick<SharedValue, 'by' | 'madeAt'>): string {
  return `${JSON.stringify({ by, madeAt }).slice(0, -1)},`
}

/** Packs a value. */
export async function packValue({ text, by, madeAt, ...others }: SharedValue): Promise<Buffer> {
  const head = { by, madeAt, ...others }
  const plain = Buffer.from(text)
  const small = plain.length < LEAST_GZIPPED ? plain : await compress(plain, { level: 1 })
  const isWorthIt = small.length < plain.length * WORTH_IT
  const line: PacketHead = isWorthIt ? { ...head, gzip: true } : head
  return Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), isWorthIt ? small : plain])
}

/**
 * Opens a packed value.
 * @throws {Error} for bytes that `packValue` does not write.
 * @returns the head, and a function that returns the text.
 */
export function openPacket(packet: Buffer): {
  readonly head: Omit<SharedValue, 'text'>
  readonly text: () => Promise<string>
} {
  const end = packet.indexOf(NEWLINE)
  const head = JSON.parse(packet.toString('utf8', 0, end)) as PacketHead
  const body = packet.subarray(end + 1)
  return {
    head,
    text: async () =>
      (head.gzip === true ? await inflate(body, { maxOutputLength: MOST_BYTES }) : body).toString('utf8'),
  }
}
