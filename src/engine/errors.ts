/** The few ways in which an engine fails; the layer above gives them API meaning. */
export class EngineError extends Error {
  /**
   * `changed`: the table has another schema by now, and nothing was done. `overloaded`: whoever
   * asks has too many reads waiting.
   */
  readonly kind:
    'gone' | 'changed' | 'overloaded' | 'read' | 'write' | 'position' | 'closed' | 'damaged'

  constructor(kind: EngineError['kind'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'EngineError'
    this.kind = kind
  }
}
