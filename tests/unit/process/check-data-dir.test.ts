import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError } from '../../../src/server/config/config.ts'
import { checkDataDir } from '../../../src/server/process/start-faults.ts'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

let temp: TempDir
let folder = ''
beforeEach(async () => {
  temp = await makeTempDir('data-dir')
  folder = temp.path
})
afterEach(() => {
  chmodSync(folder, 0o700)
  return temp.remove()
})

function refusal(path: string): string | undefined {
  try {
    checkDataDir(path)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).message
  }
}

describe('a start with a DATA_DIR', () => {
  test('makes the folder and those around it', () => {
    const path = join(folder, 'a/b')
    expect(refusal(path)).toBeUndefined()
    expect(existsSync(path)).toBe(true)
    expect(refusal(path)).toBeUndefined()
  })

  test('that leads through a file is refused, in a line that names the variable and an example', () => {
    writeFileSync(join(folder, 'file'), '')
    const path = join(folder, 'file/data')
    expect(refusal(path)).toMatch(
      /^DATA_DIR: ".*file\/data" is refused: .*ENOTDIR.* \(for example DATA_DIR=\.\/data\)$/,
    )
  })

  test.skipIf(!existsSync('/proc/self'))('where nobody can make a folder is refused', () => {
    expect(refusal('/proc/none/data')).toMatch(/^DATA_DIR: "\/proc\/none\/data" is refused: .*ENOENT/)
  })

  // The superuser may write what nobody may.
  test.skipIf(process.getuid?.() === 0 || process.platform === 'win32')('that may only be read is refused', () => {
    chmodSync(folder, 0o500)
    expect(refusal(folder)).toMatch(/EACCES/)
  })
})
