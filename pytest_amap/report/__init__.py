"""A run for its readers: Markdown, terminal, page, JUnit and statement. Pure, but for the hooks of the page."""
