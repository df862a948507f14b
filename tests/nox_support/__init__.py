# What noxfile.py is made of, besides its sessions; see CONTRIBUTING.md.
