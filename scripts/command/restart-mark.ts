/** Variable of a process that has replaced its former program, as long as that has not been read. Its value is the port. */
const RESTARTED = 'MILLRACE_DEV_RESTARTED'

/** @param port at which the former program has listened. */
export function withRestartMark(env: NodeJS.ProcessEnv, port: number): NodeJS.ProcessEnv {
  return { ...env, [RESTARTED]: String(port) }
}

/**
 * Takes the mark out of the environment, where it would be an unknown variable.
 * @returns the port; `undefined` in a process that a user has started.
 */
export function takeRestartMark(env: NodeJS.ProcessEnv): number | undefined {
  const { [RESTARTED]: port } = env
  delete env[RESTARTED]
  return port === undefined ? undefined : Number(port)
}
