import tseslint from 'typescript-eslint'

export default tseslint.config(
  { ignores: ['node_modules', 'stela-data', 'build', 'dist', 'src/search/vector/kernel'] },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: {
      // Only the files whose rules need types: see below.
      parserOptions: { project: './tsconfig.lint.json' },
    },
    rules: {
      // `array[i]!` after a bounds check reads better than a branch that cannot happen.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true },
      ],
      // There are no enums here, and looking for them takes a fifth of the time.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      eqeqeq: 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ExportDefaultDeclaration',
          message: 'Export by name, so that a thing has one name everywhere.',
        },
        {
          selector: 'TSEnumDeclaration',
          message: 'Use a union of string literals.',
        },
      ],
    },
  },
  {
    // JavaScript that Node or a browser runs as it is. It has no types to check.
    files: ['eslint.config.js', 'bin/*.js', 'package/*.js', 'src/http/pages/*.js'],
    ...tseslint.configs.disableTypeChecked,
    rules: { ...tseslint.configs.disableTypeChecked.rules, 'no-restricted-syntax': 'off' },
  },
  {
    // What needs types takes most of the time, and tsc looks at these files as strictly.
    files: ['tests/**', 'bench/**', 'src/console/**'],
    ...tseslint.configs.disableTypeChecked,
  },
)
