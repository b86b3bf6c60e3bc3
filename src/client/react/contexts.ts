import { createContext } from 'react'
import type { Router } from './router-types.ts'
import type { RouteView } from './route-view.ts'

/** The view that is being rendered; the same on the server and in the browser. */
export const ViewContext = createContext<RouteView | null>(null)

/** The client router; `null` on the server. */
export const RouterContext = createContext<Router | null>(null)
