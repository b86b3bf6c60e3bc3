import type { SourceFile } from '../site/file-tabs.tsx'
import { sourceFiles } from '../source/lab-sources.server.ts'

const kept: { files?: Promise<readonly SourceFile[]> | undefined } = {}

/** The files of the example, in the order in which they are written. Read and highlighted once; a failure is not kept. */
export async function exampleFiles(): Promise<readonly SourceFile[]> {
  try {
    return await (kept.files ??= sourceFiles('/lab/mills/[id]'))
  } catch (error) {
    kept.files = undefined
    throw error
  }
}
