// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// An ERC-721 for the sandbox: anyone may mint, and contracts named in the constructor may move anyone's NFTs.
contract Collectible {
    string public name;
    string public symbol;
    uint256 public totalSupply;
    mapping(uint256 => address) public ownerOf;
    mapping(address => uint256) public balanceOf;
    mapping(address => bool) public trusted;

    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);

    constructor(string memory name_, string memory symbol_, address[] memory trusted_) {
        name = name_;
        symbol = symbol_;
        for (uint256 i = 0; i < trusted_.length; i++) trusted[trusted_[i]] = true;
    }

    function supportsInterface(bytes4 id) external pure returns (bool) {
        return id == 0x01ffc9a7 || id == 0x80ac58cd || id == 0x5b5e139f;
    }

    function mint(address to, uint256 tokenId) public {
        require(ownerOf[tokenId] == address(0), "exists");
        totalSupply += 1;
        balanceOf[to] += 1;
        ownerOf[tokenId] = to;
        emit Transfer(address(0), to, tokenId);
    }

    function mintMany(address to, uint256[] calldata tokenIds) external {
        for (uint256 i = 0; i < tokenIds.length; i++) mint(to, tokenIds[i]);
    }

    function burn(uint256 tokenId) external {
        require(ownerOf[tokenId] == msg.sender, "not yours");
        totalSupply -= 1;
        balanceOf[msg.sender] -= 1;
        ownerOf[tokenId] = address(0);
        emit Transfer(msg.sender, address(0), tokenId);
    }

    function transferFrom(address from, address to, uint256 tokenId) external {
        require(ownerOf[tokenId] == from, "not the owner");
        require(msg.sender == from || trusted[msg.sender], "not trusted");
        balanceOf[from] -= 1;
        balanceOf[to] += 1;
        ownerOf[tokenId] = to;
        emit Transfer(from, to, tokenId);
    }
}
