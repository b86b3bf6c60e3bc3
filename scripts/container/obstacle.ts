const NEEDED = ['buildah', 'debootstrap', 'redis-server'] as const

/**
 * Why the container cannot be built and run on this machine; `undefined` where it can.
 * @param find the path of a program.
 * @param user number of the user that runs this process; `undefined` where the system has none.
 */
export function containerObstacle(
  find: (program: string) => string | undefined,
  user: number | undefined,
): string | undefined {
  const missing = NEEDED.filter((program) => find(program) === undefined)
  if (missing.length > 0) return `missing ${missing.join(', ')} (Debian: \`apt-get install ${missing.join(' ')}\`).`
  return user === 0 ? undefined : 'it has to run as root, because it mounts and becomes another user.'
}
