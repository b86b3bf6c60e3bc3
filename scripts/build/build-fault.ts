/** A fault of the application that stops a build. Its message tells the user everything: no stack is printed. */
export class BuildFault extends Error {
  override readonly name = 'BuildFault'
}
