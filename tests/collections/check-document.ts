import { checkDocumentInSteps } from '../../src/collections/validate.ts'
import { atOnce } from '../../src/runtime/steps.ts'

/** Checks a document without yielding; throws at the first violated rule. */
export function checkDocument(...given: Parameters<typeof checkDocumentInSteps>): void {
  const rest = checkDocumentInSteps(...given)
  if (rest !== undefined) atOnce(rest)
}
