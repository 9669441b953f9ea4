"""Words, languages, dates and numbers in English and Chinese. Pure functions: no I/O, no settings, no clock."""
