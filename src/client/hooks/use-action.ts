import { useContext, useSyncExternalStore } from 'react'
import type { UploadProgress } from '../react/router-types.ts'
import { RouterContext } from '../react/contexts.ts'

/**
 * How far the files of an action's call have been sent; `undefined` while none are on their way, on the server, and for a
 * call without files.
 * @param action as it is imported, without bound arguments.
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
