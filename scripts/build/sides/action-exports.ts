import { build } from 'esbuild'
import { BuildFault } from '../build-fault.ts'
import { displayPath, INTERFACE_OPTIONS } from '../build-options.ts'

/**
 * The names that a module with actions exports, except types, read without running it.
 * @param file absolute path of the module.
 * @throws {BuildFault} for an export that cannot have a reference; esbuild's failure if it does not compile.
 */
export async function actionExports(root: string, file: string): Promise<readonly string[]> {
  const { metafile, outputFiles } = await build({
    entryPoints: [file],
    absWorkingDir: root,
    ...INTERFACE_OPTIONS,
  })
  const [output] = Object.values(metafile.outputs)
  const names = output?.exports ?? []
  const shown = displayPath(root, file)
  const unnamed = /^export \* from (".*");$/m.exec(outputFiles[0]?.text ?? '')?.[1]
  if (unnamed !== undefined) {
    throw new BuildFault(
      `${shown} has export * from ${unnamed}. The names of actions are read without running any module: ` +
        `write export { save } from ${unnamed}, with each name.`,
    )
  }
  if (names.includes('default')) {
    throw new BuildFault(
      `${shown} has a default export. An action is known by its module and its name: ` +
        'write export const save = action({ … }).',
    )
  }
  return names
}
