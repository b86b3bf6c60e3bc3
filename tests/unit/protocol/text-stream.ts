import type { TextStream } from '../../../src/shared/protocol/hydration-data.ts'

/** A stream of these pieces, and whether it has been cancelled. */
interface PieceStream extends TextStream {
  readonly cancelled: { with?: unknown }
}

/** What a stream does after its last piece: ends, fails with that reason, or never says another word. */
type StreamEnd = { readonly fails: unknown } | 'ends' | 'stays'

/** Makes a stream that gives one piece a read. */
export function pieceStream(pieces: readonly string[], end: StreamEnd = 'ends'): PieceStream {
  const left = [...pieces]
  const cancelled: { with?: unknown } = {}
  return {
    cancelled,
    getReader: () => ({
      read: () => {
        const value = left.shift()
        if (value !== undefined) return Promise.resolve({ done: false, value })
        if (end === 'ends') return Promise.resolve({ done: true })
        return end === 'stays' ? new Promise(() => undefined) : Promise.reject(end.fails)
      },
      cancel: (reason) => {
        cancelled.with = reason
        // As a stream that has failed by itself does.
        return end === 'ends' ? Promise.resolve() : Promise.reject(new Error('Nothing to cancel'))
      },
    }),
  }
}

/** Cuts a text at these places, given in thousandths of its length. */
export function cut(text: string, places: readonly number[]): string[] {
  const ends = [...places.map((place) => Math.floor((place / 1000) * text.length)), text.length]
  let start = 0
  return ends
    .toSorted((a, b) => a - b)
    .map((end) => {
      const piece = text.slice(start, end)
      start = end
      return piece
    })
}

/** All promises inside of a value. */
export function promisesIn(value: unknown, seen = new Set<unknown>()): Promise<unknown>[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return []
  seen.add(value)
  if (value instanceof Promise) return [value]
  const members = value instanceof Map ? [...value].flat() : value instanceof Set ? [...value] : Object.values(value)
  return members.flatMap((member: unknown) => promisesIn(member, seen))
}

/** How a promise stands now, after what is due has run; `open` for one that still waits. */
export async function stateOf(promise: Promise<unknown>): Promise<'open' | 'kept' | 'broken'> {
  const later = new Promise<'open'>((resolve) => setImmediate(resolve, 'open'))
  return Promise.race([
    promise.then(
      () => 'kept' as const,
      () => 'broken' as const,
    ),
    later,
  ])
}
