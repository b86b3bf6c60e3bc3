const NEEDED = ['buildah', 'debootstrap', 'redis-server'] as const

/**
 * Why the container cannot be built and run on this machine; `undefined` if it can.
 * @param find returns the path of a program.
 * @param user id of the user that runs this process; `undefined` on systems without user ids.
 */
export function containerObstacle(
  find: (program: string) => string | undefined,
  user: number | undefined,
): string | undefined {
  const missing = NEEDED.filter((program) => find(program) === undefined)
  if (missing.length > 0) return `missing ${missing.join(', ')} (Debian: \`apt-get install ${missing.join(' ')}\`).`
  return user === 0 ? undefined : 'it must run as root, because it mounts file systems and switches to another user.'
}
