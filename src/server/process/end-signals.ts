/**
 * Listens to SIGTERM, SIGINT and SIGHUP; a closed terminal (SIGHUP) would end the process in the middle of answers.
 * @param stop called for each signal, so that a second one can end the process at once. SIGHUP is never the second:
 * systems send it after SIGTERM, or to each process of a session.
 */
export function onEndSignals(stop: (signal: NodeJS.Signals) => void, source: NodeJS.EventEmitter = process): void {
  const heard = { any: false }
  const hear = (signal: NodeJS.Signals): void => {
    heard.any = true
    stop(signal)
  }
  source.on('SIGTERM', hear)
  source.on('SIGINT', hear)
  source.on('SIGHUP', (signal: NodeJS.Signals) => {
    if (!heard.any) hear(signal)
  })
}
