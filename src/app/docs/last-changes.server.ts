import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

const LIMIT_MS = 10_000
const MOST_BYTES = 16 * 1024 * 1024 // a line for each change of a chapter

/** Runs git in a folder. @returns what it prints. */
type Git = (folder: string, args: readonly string[]) => Promise<string>

/**
 * The days on which files of a folder were last committed, `2026-11-26`, by their path in the folder. Empty without git, outside
 * of a repository, and in a clone without the history: there all files seem to be of one day.
 * @param folder relative to the working directory, or absolute.
 * @param git the program, except in tests.
 */
export async function readLastChanges(folder: string, git: Git = runGit): Promise<ReadonlyMap<string, string>> {
  try {
    const isShallow = await git(folder, ['rev-parse', '--is-shallow-repository'])
    if (isShallow.trim() !== 'false') return new Map()
    return latestOf(await git(folder, ['log', '--format=%x00%cs', '--name-only', '--relative', '--', '.']))
  } catch {
    return new Map() // an image of a container has no git
  }
}

/** Whatever its user has set: names as they are, and nothing between the lines. */
const SETTINGS = ['-c', 'core.quotePath=off', '-c', 'log.showSignature=false']

async function runGit(folder: string, args: readonly string[]): Promise<string> {
  const { stdout } = await run('git', [...SETTINGS, ...args], {
    cwd: folder,
    maxBuffer: MOST_BYTES,
    timeout: LIMIT_MS,
  })
  return stdout
}

/** @param log for each commit, the latest first: a NUL and the day, then a line for each file. */
function latestOf(log: string): ReadonlyMap<string, string> {
  const latest = new Map<string, string>()
  for (const commit of log.split('\0').slice(1)) {
    const [day = '', ...files] = commit.split('\n').filter((line) => line !== '')
    for (const file of files) if (!latest.has(file)) latest.set(file, day)
  }
  return latest
}
