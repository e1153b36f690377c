/** Language-specific parts of text analysis. */
export { languageFilters } from './filters.ts'
export { languageRecipes, type LanguageRecipe } from './recipes.ts'
export { findLanguageProblem } from './snowball.ts'
export { stopWords } from './stop-words.ts'
