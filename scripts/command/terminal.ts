import type { WriteStream } from 'node:tty'
import type { ProgressOutput } from '../dev/tell/progress.ts'

const ERASE_LINE = '\r\u001B[2K'

/**
 * Prints lines above one that is replaced.
 * @param stream without a terminal, no line can be replaced.
 */
export function createTerminal(
  stream: Pick<WriteStream, 'write'> & { readonly isTTY?: boolean; readonly columns?: number },
): ProgressOutput {
  if (stream.isTTY !== true) return { print: (text) => void stream.write(`${text}\n`) }
  const state = { status: '' }
  const erase = (): void => void (state.status !== '' && stream.write(ERASE_LINE))
  // A longer one would leave its beginning behind.
  const shown = (): string => state.status.slice(0, (stream.columns ?? 80) - 1)
  return {
    print(text) {
      erase()
      stream.write(`${text}\n${shown()}`)
    },
    status(text) {
      erase()
      state.status = text
      stream.write(shown())
    },
  }
}
