/** A value that does not fit its column's type. */
export class BadValue {
  /**
   * The problem as the end of a sentence about the value: 'is of type String, but an int must be
   * …'.
   */
  readonly problem: string

  constructor(problem: string) {
    this.problem = problem
  }
}
