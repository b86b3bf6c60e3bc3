import type { Logger } from 'pino'
import type { AppDefinition, AppStop } from '../api/define-app.ts'
import { describeThrown } from '../request/answer/failure.ts'
import type { Afterwards } from '../request/context.ts'
import type { Readiness } from './readiness.ts'

const AWAKE_MS = 60_000 // any: a timer is there or not

/** What the application does beside answering requests. */
export interface AppLife {
  /**
   * Runs the application's `start`; a second call does nothing more.
   * @throws what that throws.
   */
  start(): Promise<void>
  /**
   * Waits for the work that answers have left behind, and then runs what `start` has returned, once. What that throws is
   * logged.
   * @param deadline until when it is waited for.
   * @returns whether it was done in good order by then, also where there is nothing to do.
   */
  stop(deadline: AbortSignal): Promise<boolean>
}

/** Makes the life of one application in one process. Its `signal` is aborted as soon as the process is to end. */
export function createAppLife(
  run: AppDefinition['start'],
  { onDraining }: Pick<Readiness, 'onDraining'>,
  { settled }: Pick<Afterwards, 'settled'>,
  facts: { readonly log: Logger; readonly dataDir: string; readonly worker: number | undefined },
): AppLife {
  const going = new AbortController()
  let started: Promise<AppStop | void> | undefined
  let stopped: Promise<boolean> | undefined

  async function begin(): Promise<AppStop | void> {
    if (run === undefined) return
    onDraining(() => going.abort())
    return run({ ...facts, signal: going.signal })
  }

  async function end(deadline: AbortSignal): Promise<boolean> {
    const late = new Promise<boolean>((resolve) => {
      if (deadline.aborted) resolve(false)
      else deadline.addEventListener('abort', () => resolve(false), { once: true })
    })
    const work = async (): Promise<boolean> => {
      await settled()
      const stop = await started
      await stop?.()
      return true
    }
    // Where nothing else keeps the process awake it would end here, without its last words.
    const awake = setInterval(() => undefined, AWAKE_MS)
    try {
      return await Promise.race([work(), late])
    } catch (thrown) {
      facts.log.error({ err: describeThrown(thrown) }, 'the application could not be stopped in good order')
      return false
    } finally {
      clearInterval(awake)
    }
  }

  return {
    start: async () => void (await (started ??= begin())),
    stop: (deadline) => (stopped ??= end(deadline)),
  }
}
