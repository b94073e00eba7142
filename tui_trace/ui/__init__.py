"""The screens. Textual is imported here and nowhere else."""
