/**
 * Hears of what asks the process to end: a supervisor, somebody at the terminal, and a terminal or session that is closed,
 * which by default would end it in the middle of its answers.
 * @param stop called for each signal, so that a second one can mean now. A hang-up is never the second: systems send it
 *   behind a SIGTERM, or to a whole session and each process of it, and nobody has become impatient.
 */
export function hearEndSignals(stop: (signal: NodeJS.Signals) => void, source: NodeJS.EventEmitter = process): void {
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
