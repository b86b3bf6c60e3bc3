import type { Random } from '../../scripts/seeded-random.ts'

const MOST_BYTES = 4_096
const MOST_CHANGES = 6

/** What inputs are made from. */
interface MutationSources {
  readonly random: Random
  /** Inputs that have shown something. */
  readonly corpus: readonly Buffer[]
  /** Pieces that mean something to the target. */
  readonly words: readonly string[]
}

/** Another input, made of one that has shown something. */
export function mutate({ random, corpus, words }: MutationSources): Buffer {
  const pick = <Item>(items: readonly Item[]): Item | undefined => items[Math.floor(random() * items.length)]
  const below = (limit: number): number => Math.floor(random() * limit)
  let bytes = pick(corpus) ?? Buffer.alloc(0)
  for (let left = 1 + below(MOST_CHANGES); left > 0; left -= 1) bytes = change(bytes)
  return bytes.subarray(0, MOST_BYTES)

  function change(given: Buffer): Buffer {
    const at = below(given.length + 1)
    const end = Math.min(given.length, at + 1 + below(random() < 0.8 ? 4 : 64))
    switch (below(7)) {
      case 0:
        return Buffer.concat([given.subarray(0, at), given.subarray(end)])
      case 1:
        return Buffer.concat([given.subarray(0, at), Buffer.from(pick(words) ?? ''), given.subarray(at)])
      case 2:
        return Buffer.concat([given.subarray(0, at), Buffer.from(pick(words) ?? ''), given.subarray(end)])
      case 3:
        return Buffer.concat([given.subarray(0, end), given.subarray(at, end), given.subarray(end)])
      case 4: {
        const other = pick(corpus) ?? given
        return Buffer.concat([given.subarray(0, at), other.subarray(below(other.length + 1))])
      }
      case 5:
        return Buffer.concat([given.subarray(0, at), Buffer.from([below(256)]), given.subarray(at)])
      default: {
        const changed = Buffer.from(given)
        if (at < changed.length) changed[at] = (changed[at] ?? 0) ^ (1 << below(8))
        return changed
      }
    }
  }
}
