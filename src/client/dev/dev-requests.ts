import { basePath } from '../../shared/base-path.ts'
import { DEV_OPEN_PATH, DEV_STACK_PATH, type DevFailure, type DevFrame, type PageComplaint } from './dev-messages.ts'

const MOST_TEXT = 30_000 // characters of each member; the server refuses more

/** Has the development server translate a stack, because it knows the sources of the files that it has served. */
export async function explain(complaint: PageComplaint): Promise<DevFailure> {
  const { message, stack, components } = complaint
  const answer = await post(DEV_STACK_PATH, {
    ...complaint,
    message: message.slice(0, MOST_TEXT),
    stack: stack.slice(0, MOST_TEXT),
    ...(components === undefined ? {} : { components: components.slice(0, MOST_TEXT) }),
  })
  if (!answer.ok) throw new Error(`The development server answered with ${answer.status}`)
  const failure: DevFailure = await answer.json()
  return failure
}

/** Opens a file at a position. Rejects with the server's reason. */
export async function openInEditor({ file, line, column }: DevFrame): Promise<void> {
  const answer = await post(DEV_OPEN_PATH, { file, line, column })
  if (!answer.ok) throw new Error((await answer.text()).trim() || 'The file could not be opened.')
}

function post(path: string, body: unknown): Promise<Response> {
  return fetch(basePath() + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
}
