/** Packages that `desk` has and this project has not; its own `npm test` checks it against their types. */
declare module 'uplot' {
  export default class UPlot {
    constructor(options: object, data: readonly number[][], target: HTMLElement)
    setSize(size: object): void
    destroy(): void
  }
}
