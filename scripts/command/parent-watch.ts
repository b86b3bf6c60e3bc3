/** How often the parent is looked at, in ms: who stops `npm run dev` may start it again soon. */
const LOOK_MS = 500

/** What `endWithParent` looks at. */
interface WatchedProcess {
  readonly ppid: number
  readonly pid: number
  readonly env: NodeJS.ProcessEnv
  kill(pid: number, signal: NodeJS.Signals): void
}

/**
 * Ends a command that an npm script has started when the shell of that script has ended. npm passes SIGTERM to the shell alone,
 * which dies without passing it on, so the server would stay, with its port. Other programs may leave a command behind.
 * @param self this process, unless under test.
 */
export function endWithParent(self: WatchedProcess = process): void {
  const { ppid, env } = self
  if (env['npm_lifecycle_event'] === undefined || ppid <= 1) return
  const timer = setInterval(() => {
    if (self.ppid === ppid) return
    clearInterval(timer)
    self.kill(self.pid, 'SIGTERM')
  }, LOOK_MS)
  timer.unref()
}
