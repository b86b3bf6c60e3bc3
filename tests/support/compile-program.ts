import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { runCommand } from '../../scripts/checks/run-command.ts'
import { makeTempDir } from './temp-dir.ts'

const ROOT = join(import.meta.dirname, '../..')

/**
 * Compiles the files of an application, which import the package by its names.
 * @param files texts by path in the application's folder.
 * @returns messages by file, each with its lines.
 */
export async function compileProgram(
  files: Readonly<Record<string, string>>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  await using temp = await makeTempDir('program')
  const folder = await realpath(temp.path)
  for (const name of ['package.json', 'node_modules', 'src']) await symlink(join(ROOT, name), join(folder, name))
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, 'app', name)), { recursive: true })
    await writeFile(join(folder, 'app', name), text)
  }
  const ambient = [join(ROOT, 'types.d.ts'), join(ROOT, 'src/server/reports/delivery/undici-pool.d.ts')]
  const config = { extends: join(ROOT, 'src/app/tsconfig.json'), include: ['app/**/*'], files: ambient }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const { output } = await runCommand('tsc', ['-p', folder, '--pretty', 'false'], { cwd: folder, output: 'collect' })
  const messages = new Map<string, string[]>()
  for (const fault of output.trimEnd().split(/\n(?!\s)/)) {
    const [, file = fault] = /^app\/([^(]+)\(/.exec(fault) ?? []
    if (fault !== '') messages.set(file, [...(messages.get(file) ?? []), ...fault.split('\n')])
  }
  return messages
}
