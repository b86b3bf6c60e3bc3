import type { UploadProgress } from '../react/router-types.ts'
import { useRouterValue } from './use-router.ts'

/**
 * Upload progress of an action's call; `undefined` while no files are being sent, on the server, and for a call without
 * files.
 * @param action as imported, without bound arguments.
 */
export function useUploadProgress(action: unknown): UploadProgress | undefined {
  return useRouterValue((router) => router.uploads.get(idOf(action)), undefined)
}

/**
 * Whether a call of an action could not be sent, and waits for the network or the visitor. It is still pending for
 * `useActionState`, `useFormStatus` and `useOptimistic`. `false` on the server.
 * @param action as imported, without bound arguments.
 */
export function useUnsent(action: unknown): boolean {
  return useRouterValue((router) => router.unsent?.has(idOf(action)) === true, false)
}

function idOf(action: unknown): string {
  return (action as { readonly actionId?: string }).actionId ?? ''
}
