import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

const PROJECT = resolve(import.meta.dirname, '../../..')

/**
 * Makes a project with an application of its own, and this repository as its `millrace`.
 * @param root its folder; must not exist.
 * @param files by path in it; they replace those of the application.
 */
export async function makeLinkedProject(root: string, files: Readonly<Record<string, string>> = {}): Promise<string> {
  await cp(join(PROJECT, 'tests/fixtures/build-dev'), join(root, 'src/app'), { recursive: true })
  await mkdir(join(root, 'node_modules'))
  await symlink(PROJECT, join(root, 'node_modules/millrace'))
  for (const peer of ['react', 'react-dom']) {
    await symlink(join(PROJECT, 'node_modules', peer), join(root, 'node_modules', peer))
  }
  await writeFiles(root, { 'package.json': '{ "type": "module", "dependencies": { "react": "*" } }', ...files })
  return root
}

/** Writes files by path in a folder, and makes their folders. */
export async function writeFiles(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}
