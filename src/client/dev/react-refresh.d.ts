declare module 'react-refresh/runtime' {
  /** Tells React's renderers, through the devtools hook, where to find the current version of a component. */
  export function injectIntoGlobalHook(scope: object): void
  /** Registers a component under an id that stays the same when its module is reloaded. */
  export function register(type: unknown, id: string): void
  /** Creates the function that records which hooks a component calls: if they change, its state is reset. */
  export function createSignatureFunctionForTransform(): (type: unknown, key?: string, forceReset?: boolean) => unknown
  /** Renders all mounted components with their current versions. */
  export function performReactRefresh(): unknown
}
