import { Session, type Profiler } from 'node:inspector/promises'

/** Which characters of our sources have run so far. */
interface BlockCoverage {
  /** Notes what has run since the last call, of any record. @returns how many characters are new to this one. */
  take(): Promise<number>
  /** Characters that have run. */
  readonly covered: number
}

/** Counters of this process; there is one set of them. */
interface BlockWatch extends AsyncDisposable {
  /** A record with nothing in it. */
  record(): BlockCoverage
}

/**
 * Watches blocks of code by V8's own counters.
 * @param isWatched whether a script counts, by its URL.
 */
export async function watchBlocks(isWatched: (url: string) => boolean): Promise<BlockWatch> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  return {
    record() {
      /** By URL: a flag for each character. */
      const seen = new Map<string, Uint8Array>()
      const state = { covered: 0 }
      return {
        async take() {
          const { result } = await session.post('Profiler.takePreciseCoverage')
          let fresh = 0
          for (const { url, functions } of result) if (isWatched(url)) fresh += note(seen, url, functions)
          state.covered += fresh
          return fresh
        },
        get covered() {
          return state.covered
        },
      }
    },
    async [Symbol.asyncDispose]() {
      await session.post('Profiler.stopPreciseCoverage')
      session.disconnect()
    },
  }
}

function note(seen: Map<string, Uint8Array>, url: string, functions: readonly Profiler.FunctionCoverage[]): number {
  const ranges = functions.flatMap((one) => (one.ranges[0]?.count === 0 ? [] : one.ranges))
  const length = Math.max(0, ...ranges.map(({ endOffset }) => endOffset))
  const ran = new Uint8Array(length)
  // Functions come before those inside of them, and blocks likewise: the inner one has the last word.
  for (const { startOffset, endOffset, count } of ranges) ran.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  const known = seen.get(url) ?? new Uint8Array(0)
  const all = known.length >= length ? known : new Uint8Array(length)
  if (all !== known) all.set(known)
  let fresh = 0
  for (let at = 0; at < length; at += 1) {
    if (ran[at] === 1 && all[at] === 0) {
      all[at] = 1
      fresh += 1
    }
  }
  seen.set(url, all)
  return fresh
}
