declare module 'react-refresh/runtime' {
  /** Tells React's renderers, through the devtools hook, who to ask for the current version of a component. */
  export function injectIntoGlobalHook(scope: object): void
  /** Files a component under an id that stays the same when its module is loaded again. */
  export function register(type: unknown, id: string): void
  /** Makes the function that records which hooks a component calls: other hooks mean that its state must go. */
  export function createSignatureFunctionForTransform(): (type: unknown, key?: string, forceReset?: boolean) => unknown
  /** Renders all mounted components with their current versions. */
  export function performReactRefresh(): unknown
}
