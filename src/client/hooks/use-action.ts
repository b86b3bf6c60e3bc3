import { useContext, useSyncExternalStore } from 'react'
import type { UploadProgress } from '../react/router-types.ts'
import { RouterContext } from '../react/contexts.ts'

/**
 * Upload progress of an action's call; `undefined` while no files are being sent, on the server, and for a call without
 * files.
 * @param action as imported, without bound arguments.
 */
export function useUploadProgress(action: unknown): UploadProgress | undefined {
  const router = useContext(RouterContext)
  const id = (action as { readonly actionId?: string }).actionId ?? ''
  return useSyncExternalStore(
    router?.subscribe ?? (() => () => undefined),
    () => router?.uploads.get(id),
    () => undefined,
  )
}
