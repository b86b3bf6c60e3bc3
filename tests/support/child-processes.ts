import { readdir, readFile, readlink } from 'node:fs/promises'

/** Children of a process, in the order of their start; none where there is no `/proc`. Source: proc(5). */
export async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '')
  return text.split(' ').filter(Boolean).map(Number)
}

const ESTABLISHED = '01'

/** How many connections to a port of 127.0.0.1 a process has accepted and not closed. Source: proc(5), `/proc/net/tcp`. */
export async function connectionsOf(pid: number, port: number): Promise<number> {
  const folder = `/proc/${pid}/fd`
  const links = await Promise.all(
    (await readdir(folder)).map((name) => readlink(`${folder}/${name}`).catch(() => 'closed meanwhile')),
  )
  const own = new Set(links.map((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1]))
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = (await readFile(`/proc/${pid}/net/tcp`, 'utf8')).split('\n').map((line) => line.trim().split(/\s+/))
  return rows.filter((row) => row[1]?.endsWith(suffix) && row[3] === ESTABLISHED && own.has(row[9])).length
}
