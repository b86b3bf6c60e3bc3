import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that goes away with its owner: `await using folder = await makeTempDir()`. */
export interface TempDir extends AsyncDisposable {
  /** Absolute. */
  readonly path: string
  /** Removes the folder and what is in it; a second call does nothing. */
  remove(): Promise<void>
}

/**
 * Makes an empty folder under the system's own temporary one.
 * @param purpose part of the name, so that a folder left by a crash tells where it came from.
 */
export async function makeTempDir(purpose = 'test'): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), `millrace-${purpose}-`))
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 })
  return { path, remove, [Symbol.asyncDispose]: remove }
}
