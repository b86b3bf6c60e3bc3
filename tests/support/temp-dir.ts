import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A folder that goes away with its owner: `await using folder = await makeTempDir()`. */
export type TempDir = Awaited<ReturnType<typeof mkdtempDisposable>>

/**
 * Makes an empty folder in the system's temporary one.
 * @param purpose part of the name: it tells where a folder is from that a crash has left.
 */
export function makeTempDir(purpose = 'test'): Promise<TempDir> {
  return mkdtempDisposable(join(tmpdir(), `millrace-${purpose}-`))
}
