/**
 * Looks places up in source maps. A map takes up to forty times its size in memory, and a large one blocks for a
 * second, so this happens in a thread with limited memory, one at a time in the whole process; its end frees the
 * memory. A lookup that runs out of time or memory has no answer.
 */
import { Worker } from 'node:worker_threads'

const MOST_MAP_BYTES = 16_777_216
const MOST_HEAP_MB = 160 // of the thread: with the server, well below a container of 512 MiB
const MOST_NEW_MB = 16
const TIME_LIMIT_MS = 5_000
/** Calls that may wait for the one thread, so that none waits for a minute. */
const MOST_WAITING = 8

/** A question about one map. */
export interface PlaceQuestion {
  /** Absolute path of the map. */
  readonly path: string
  /** Lines and columns of the built file, from 1. */
  readonly places: readonly (readonly [line: number, column: number])[]
}

/** A place in the sources. */
export interface SourcePlace {
  readonly file: string
  /** From 1. */
  readonly line: number
  readonly column: number
}

/** Answers to one question, in its order: a place, or `null` if the map does not have it. */
type PlaceAnswer = readonly (SourcePlace | null)[]

/**
 * Queries several maps, one after the other.
 * @param ask called when it is this one's turn: results of earlier calls need not be looked up again.
 * @returns an answer each; `undefined` without enough time or memory, or if too many calls wait.
 */
export type PlaceLookup = (ask: () => readonly PlaceQuestion[]) => Promise<readonly (PlaceAnswer | undefined)[]>

/** Runs in the thread, and answers map by map. A missing or damaged map has no places. */
const SCRIPT = `
const { readFileSync, statSync } = require('node:fs')
const { SourceMap } = require('node:module')
const { parentPort, workerData } = require('node:worker_threads')
function answer({ path, places }) {
  try {
    if (statSync(path).size > ${MOST_MAP_BYTES}) return places.map(() => null)
    const map = new SourceMap(JSON.parse(readFileSync(path, 'utf8')))
    return places.map(([line, column]) => {
      const { fileName, lineNumber, columnNumber } = map.findOrigin(line, column)
      return fileName === undefined ? null : { file: fileName, line: lineNumber, column: columnNumber }
    })
  } catch {
    return places.map(() => null)
  }
}
for (const question of workerData) parentPort.postMessage(answer(question))
`

/** A lookup that starts a thread for each call, one call at a time. */
export function createPlaceLookup(timeLimitMs = TIME_LIMIT_MS): PlaceLookup {
  const queue: { last: Promise<unknown>; length: number } = { last: Promise.resolve(), length: 0 }
  return (ask) => {
    if (queue.length > MOST_WAITING) return Promise.resolve([])
    queue.length += 1
    const answered = queue.last.then(() => askThread(ask(), timeLimitMs)).finally(() => (queue.length -= 1))
    queue.last = answered.catch(() => undefined)
    return answered
  }
}

/** The one lookup of this process. */
export const lookUpPlaces: PlaceLookup = createPlaceLookup()

function askThread(
  questions: readonly PlaceQuestion[],
  timeLimitMs: number,
): Promise<readonly (PlaceAnswer | undefined)[]> {
  if (questions.length === 0) return Promise.resolve([])
  return new Promise((resolve) => {
    const answers: PlaceAnswer[] = []
    const thread = new Worker(SCRIPT, {
      eval: true,
      workerData: questions,
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB, maxYoungGenerationSizeMb: MOST_NEW_MB },
    })
    const timer = setTimeout(() => void thread.terminate(), timeLimitMs)
    thread.unref()
    thread.on('message', (answer: PlaceAnswer) => answers.push(answer))
    // Most likely too little memory; `exit` follows.
    thread.on('error', () => undefined)
    thread.on('exit', () => {
      clearTimeout(timer)
      resolve(questions.map((_, at) => answers[at]))
    })
  })
}
