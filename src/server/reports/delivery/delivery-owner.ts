/**
 * Names of processes in the lease. A process on the same machine and in the same process namespace can be checked for
 * being alive, so that a restart after `kill -9` need not wait for the lease to expire. Nothing is known about other
 * processes.
 */
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Names that this process has given: one per server, and a process rarely has two. */
const own = new Set<string>()

/**
 * Names a server of this process.
 * @param id globally unique.
 */
export function nameOwner(id: string): string {
  const owner = [placeOfProcesses(), process.pid, id].join(' ')
  own.add(owner)
  return owner
}

/** Whether the named process is certainly gone. */
export function isOwnerGone(owner: string): boolean {
  const parts = owner.split(' ')
  const pid = Number(parts.at(-2))
  if (parts.slice(0, -2).join(' ') !== placeOfProcesses() || !Number.isInteger(pid) || pid <= 0) return false
  // Our own process id but not our name: an earlier process.
  if (pid === process.pid) return !own.has(owner)
  try {
    process.kill(pid, 0)
    return false
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** Where process ids mean the same: containers may share a host name, but not the namespace. */
function placeOfProcesses(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return `${hostname()} -`
  }
}
