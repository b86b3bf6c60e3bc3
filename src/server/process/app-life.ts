import type { AppDefinition, AppStart, AppStop } from '../api/define-app.ts'
import { describeThrown } from '../request/answer/failure.ts'
import type { Afterwards } from '../request/context.ts'
import type { Readiness } from './readiness.ts'

const AWAKE_MS = 60_000 // any value: the timer only has to exist

/** The `start` and `stop` of an application. */
export interface AppLife {
  /**
   * Runs the application's `start`, once.
   * @throws the errors of `start`.
   */
  start(): Promise<void>
  /**
   * Waits for work started by `context.after`, then runs the function that `start` returned, once. Logs their errors.
   * @returns whether it finished without an error before the deadline.
   */
  stop(deadline: AbortSignal): Promise<boolean>
}

/** The `signal` that `start` gets is aborted when the process starts to end. */
export function createAppLife(
  run: AppDefinition['start'],
  { onDraining }: Pick<Readiness, 'onDraining'>,
  { settled }: Pick<Afterwards, 'settled'>,
  facts: Omit<AppStart, 'signal'>,
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
    // Without it Node could end the process here, before its last log lines.
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
