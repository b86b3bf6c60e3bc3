import type { ChildProcess } from 'node:child_process'

/** Where a debugger reaches the application's server. */
export interface InspectorAddress {
  readonly host: string
  readonly port: number
  /** Whether each generation waits for a debugger before it loads the application. */
  readonly waits: boolean
}

const RELEASE = 'release-inspector'
const RELEASED = 'inspector-released'
const RELEASE_LIMIT_MS = 1_000 // a process that is paused at a breakpoint never answers

/**
 * Code for the start of a server's process: opens the inspector that its first argument describes, and closes it when the
 * next generation needs the port. It expects a top level that may await.
 */
export const OPEN_INSPECTOR = `if (process.argv[2] !== undefined) {
  const { close, open } = await import('node:inspector')
  const { host, port, waits } = JSON.parse(process.argv[2])
  process.on('message', (message) => {
    if (message !== ${JSON.stringify(RELEASE)}) return
    close()
    process.send(${JSON.stringify(RELEASED)})
  })
  open(port, host, waits)
}
`

/** Arguments of Node for a process that runs `main`, with an inspector unless `address` is `undefined`. */
export function inspectedArguments(main: string, address: InspectorAddress | undefined): readonly string[] {
  // Without the flag, Node prints the inspector's address at each save.
  return address === undefined ? [main] : ['--inspect-publish-uid=http', main, JSON.stringify(address)]
}

/**
 * Gives the inspector's port from one process to the next.
 * @returns a function that calls `start` when the previous process has closed its inspector: at once without one.
 */
export function createInspectorHandOver(
  address: InspectorAddress | undefined,
): (previous: ChildProcess | undefined, start: () => void) => void {
  const state = { released: Promise.resolve() }
  return (previous, start) => {
    if (address === undefined) return start()
    state.released = state.released.then(() => (previous === undefined ? undefined : release(previous))).then(start)
  }
}

/** Resolves when a process has closed its inspector. A process that does not answer, because it is paused, is ended. */
async function release(child: ChildProcess): Promise<void> {
  if (!child.connected) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const hear = (message: unknown): void => void (message === RELEASED && resolve())
  child.on('message', hear).once('close', resolve)
  const overdue = setTimeout(() => child.kill('SIGKILL'), RELEASE_LIMIT_MS)
  child.send(RELEASE, () => undefined) // the event reports its end
  await promise
  clearTimeout(overdue)
  child.off('message', hear).off('close', resolve)
}
