/**
 * Names of processes in the lease. A process of the same machine and the same process namespace can be asked whether it
 * still lives, so that a restart after `kill -9` need not wait for the lease to run out. Of others nothing is known.
 */
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Names given by this process. One a server, and a process rarely has two. */
const own = new Set<string>()

/**
 * Names a server of this process.
 * @param id unlike any other that ever was.
 */
export function nameOwner(id: string): string {
  const owner = [placeOfProcesses(), process.pid, id].join(' ')
  own.add(owner)
  return owner
}

/** Whether the process of this name is certainly gone. */
export function isOwnerGone(owner: string): boolean {
  const parts = owner.split(' ')
  const pid = Number(parts.at(-2))
  if (parts.slice(0, -2).join(' ') !== placeOfProcesses() || !Number.isInteger(pid) || pid <= 0) return false
  // Of our own number, and yet not us: it came before.
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
