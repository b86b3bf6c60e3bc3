import { fork } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import type { BundleContext } from '../bundle-options.ts'
import type { InspectionMessage, InspectionReport } from './inspect-application.ts'

/** An application that takes longer to evaluate is waiting for something that a build cannot provide. */
const EVALUATION_LIMIT_MS = 30_000

const INSPECTION = join(import.meta.dirname, `inspect-application${extname(import.meta.filename)}`)

/** What became of an evaluation. */
interface Evaluation {
  readonly report: InspectionReport
  /** The module that was being evaluated; absent for the application itself. */
  readonly source?: string
}

/** A process that evaluates one inspection's bundle, and ends with it. */
export interface InspectionProcess {
  /** @param file the bundle's absolute path. */
  evaluate(file: string): Promise<Evaluation>
  /** Ends it before it has evaluated anything. */
  end(): void
  /** Whether it has ended. */
  hasEnded(): boolean
}

/** Starts a process, which loads its own modules and waits for a bundle. */
export function startInspection(mode: BundleContext['mode']): InspectionProcess {
  const child = fork(INSPECTION, {
    execArgv: ['--enable-source-maps'],
    env: { ...process.env, NODE_ENV: mode },
    stdio: ['ignore', 2, 2, 'ipc'], // stdout may be a log for other programs
  })
  const ended = once(child, 'exit').then(([code, signal]): InspectionReport => {
    const limit = `it did not finish within ${EVALUATION_LIMIT_MS / 1000} s (a top-level await that never settles?)`
    return { failure: signal === 'SIGKILL' ? limit : `its process ended early, with exit code ${String(code)}` }
  })
  ended.catch(() => undefined) // `evaluate` reports it
  return {
    async evaluate(file) {
      const state: { source?: string } = {}
      const overdue = setTimeout(() => child.kill('SIGKILL'), EVALUATION_LIMIT_MS)
      try {
        const reported = new Promise<InspectionReport>((resolve) => {
          child.on('message', (message: InspectionMessage) => {
            if ('evaluating' in message) state.source = message.evaluating
            else resolve(message)
          })
        })
        child.send(file, () => undefined) // its exit reports its end
        return { report: await Promise.race([reported, ended]), ...state }
      } finally {
        clearTimeout(overdue)
      }
    },
    end: () => void child.kill(),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
  }
}
